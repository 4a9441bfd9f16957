/** Tells those who have to sign of a new expense, by the webhook of the team. */
import type { Settings } from "./setup";
import type { Expense } from "./tools";

/** How often, and how long to wait in between. */
export interface Retry {
  /** Attempts for each person. */
  attempts: number;
  /** Milliseconds before the second attempt; twice as many before each further one. */
  pause: number;
}

/** Who was told and who could not be reached. */
export interface Notified {
  told: string[];
  missed: string[];
}

/** Tells everybody in the role that signs next. Rejects with 502 when nobody could be reached. */
export async function NotifyApprovers(
  expense: Expense,
  settings: Settings,
  retry: Retry = { attempts: 3, pause: 500 },
): Promise<Notified> {
  const role = expense.needs[expense.signed.length];
  if (!role || !settings.webhook) return { told: [], missed: [] };

  const people = settings.approvers[role] ?? [];
  const text = `Expense ${expense.id}: ${expense.total} ${settings.policy.currency} for ${expense.category} waits for you`;
  const reached = await Promise.all(people.map((to) => deliver(settings.webhook, { to, text }, retry)));

  const told = people.filter((_, index) => reached[index]);
  if (people.length && !told.length) throw new Exception(`Nobody in ${role} could be told`, 502);
  return { told, missed: people.filter((_, index) => !reached[index]) };
}

/** Posts a message until it is taken; whether it was. */
async function deliver(url: string, message: { to: string; text: string }, retry: Retry): Promise<boolean> {
  let pause = retry.pause;
  for (let attempt = 1; attempt <= retry.attempts; attempt++) {
    const { status } = http.Post(url, message);
    if (status >= 200 && status < 300) return true;
    if (status >= 400 && status < 500) return false; // it would be refused again
    if (attempt < retry.attempts) await sleep(pause);
    pause *= 2;
  }
  return false;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
