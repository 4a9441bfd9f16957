/** The tool `book`: writes a visit of a pet that is known. */
export function Book(given: { pet: string; reason: string }): { id: number; at: string } {
  const [pet] = Process("models.pet.Get", { wheres: [{ column: "name", value: given.pet }], limit: 1 });
  if (!pet) throw new Exception(`There is no pet ${given.pet}`, 404);
  const tomorrow = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
  const id = Process("models.clinic.visit.Create", { pet_id: pet.id, at: tomorrow, reason: given.reason });
  return { id, at: Process("models.clinic.visit.Find", id, {}).at };
}
