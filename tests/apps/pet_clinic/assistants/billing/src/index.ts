/** Bills every visit that there is as a check-up. */
export function Next(): agent.NextResult {
  const [{ visits }] = new Query().Get({ select: [":COUNT(id) as visits"], from: "clinic_visit" });
  const { price } = Process("models.treatment.Find", "checkup", {});
  const id = Process("models.agents.billing.invoice.Create", {
    total: visits * price,
    issued: new Date().toISOString().slice(0, 10),
  });
  const invoice = Process("models.agents.billing.invoice.Find", id, {});
  return { data: { total: invoice.total, issued: invoice.issued } };
}
