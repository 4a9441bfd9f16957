export default async () => { await null; return (await import("./exports_source")).one; };
