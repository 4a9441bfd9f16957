export function Open({ thing, floor }: { thing: string; floor: number }) {
  return { id: 12, thing, floor };
}
