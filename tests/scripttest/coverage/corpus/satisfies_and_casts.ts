export const point = { x: 1, y: (2 as number) || 3 } satisfies Record<string, number>;
export const wide = <any>point;
export const sure = wide!.x! ?? 1;
export const list = [1, 2] as const;
export const both = ((wide as any) || (sure as any)) as unknown as string;
export const called = (both as any)?.length ? (both as any)!.length : 0;
