type State = "idle" | "busy" | "done";
const next: Record<State, State[]> = { idle: ["busy"], busy: ["done", "idle"], done: [] };
export class Machine {
  private state: State = "idle";
  private readonly listeners = new Set<(s: State) => void>();
  on(listener: (s: State) => void) { this.listeners.add(listener); return () => this.listeners.delete(listener); }
  go(to: State): boolean {
    if (!next[this.state].includes(to)) return false;
    this.state = to;
    for (const listener of this.listeners) listener(to);
    return true;
  }
}
const machine = new Machine();
const off = machine.on((s) => { if (s === "done") off(); });
machine.go("done"); machine.go("busy"); machine.go("done");
