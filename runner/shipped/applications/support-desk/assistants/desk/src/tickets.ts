export interface Ticket {
  id: number;
  subject: string;
  urgent: boolean;
}

const tickets = () => new Store("cache");

/** The tool `find_tickets`: the tickets of a customer, the oldest first. */
export function Find(customer: string): Ticket[] {
  return tickets().Get(customer) ?? [];
}

/** The tool `open_ticket`. A second ticket about the same subject is not opened. */
export function Open(customer: string, subject: string): Ticket {
  const known = Find(customer);
  const same = known.find((ticket) => ticket.subject === subject);
  if (same) return same;
  const ticket = { id: known.length + 1, subject, urgent: IsUrgent(subject) };
  tickets().Set(customer, [...known, ticket]);
  return ticket;
}

/** Whether somebody cannot work until it is solved. */
export function IsUrgent(subject: string): boolean {
  return /\b(screen|keyboard|login|down)\b/i.test(subject);
}
