"""`yao-test mutate`: would the tests notice? Small faults are planted, and the tests run with each of them; answers of
cases are changed, and graded again; rules of prompts are left out."""
