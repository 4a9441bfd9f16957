export function work() {
  const resource = () => ({ [Symbol.dispose ?? "dispose"]() {} });
  return resource;
}
export async function open(make: () => any, makes: any[]) {
  using one = make();
  await using two = make() || one;
  for (using three of makes) { void three; }
  for (await using four of makes) { void four; }
  return two;
}
work();
