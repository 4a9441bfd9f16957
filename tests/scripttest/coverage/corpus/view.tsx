/** @jsx make */
const make = (kind: string, props: object | null, ...inside: unknown[]) => ({ kind, ...props, inside });
export const view = (on?: boolean) => <div title={on ? "on" : "off"} {...(on && { a: 1 })}>{on && <b>{() => 1}</b>} text</div>;
view(true);
