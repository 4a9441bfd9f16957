export const re = /[/]\/(?<n>a)|"|'|`/giu, bigger = /\p{L}{2,}[\w--\d]/v;
export const n = 1_000n ** 2n, f = 0xff, o = 0o17, b = 0b11, e = 1e3;
export const hit = re.test("/a") ? RegExp.$1 : n / 2n / 1n;
