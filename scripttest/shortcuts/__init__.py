"""What bends the code for speed: realms that set up less, modules cut down to one test, bindings as bytecode."""
