export default { test: { include: ["spec/*.spec.ts"] } };
