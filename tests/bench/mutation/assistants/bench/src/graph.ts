/** Graphs: the order of tasks, shortest ways, groups. Loops that have to end. */
export type Graph = Record<string, string[]>;

export function order(graph: Graph): string[] {
  const waits = new Map<string, number>();
  for (const [node, needs] of Object.entries(graph)) {
    waits.set(node, needs.length);
    for (const need of needs) if (!(need in graph)) waits.set(need, waits.get(need) ?? 0);
  }
  const ready = [...waits].filter(([, count]) => count === 0).map(([node]) => node);
  const done: string[] = [];
  while (ready.length > 0) {
    const node = ready.shift() as string;
    done.push(node);
    for (const [other, needs] of Object.entries(graph)) {
      if (!needs.includes(node)) continue;
      const rest = (waits.get(other) ?? 0) - 1;
      waits.set(other, rest);
      if (rest === 0) ready.push(other);
    }
  }
  if (done.length < waits.size) throw new Error("the tasks wait for each other");
  return done;
}

export function distance(graph: Graph, from: string, to: string): number {
  const seen = new Set([from]);
  let border = [from];
  for (let steps = 0; border.length; steps++) {
    if (border.includes(to)) return steps;
    const next: string[] = [];
    for (const node of border) {
      for (const other of graph[node] ?? []) {
        if (!seen.has(other)) {
          seen.add(other);
          next.push(other);
        }
      }
    }
    border = next;
  }
  return -1;
}

export function groups(graph: Graph): string[][] {
  const found: string[][] = [];
  const seen = new Set<string>();
  for (const start of Object.keys(graph).sort()) {
    if (seen.has(start)) continue;
    const group: string[] = [];
    const todo = [start];
    while (todo.length) {
      const node = todo.pop() as string;
      if (seen.has(node)) continue;
      seen.add(node);
      group.push(node);
      todo.push(...(graph[node] ?? []));
      for (const [other, needs] of Object.entries(graph)) if (needs.includes(node)) todo.push(other);
    }
    found.push(group.sort());
  }
  return found;
}
