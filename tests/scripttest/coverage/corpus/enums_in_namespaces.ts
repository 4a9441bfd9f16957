export namespace Api {
  export enum Status { Ok = 200, Moved = Ok + 101, Broken = Moved > 400 ? 500 : 501 }
  export type Reply = { status: Status };
  export interface Sender { send(reply: Reply): void }
  export class Fake implements Sender { sent: Reply[] = []; send(reply: Reply) { this.sent.push(reply); } }
  export const ok = (status: Status): status is Status.Ok => status === Status.Ok;
}
const fake = new Api.Fake();
if (Api.ok(Api.Status.Broken)) fake.send({ status: Api.Status.Ok });
