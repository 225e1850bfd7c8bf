import fc from "fast-check";
import { expect, test } from "vitest";
import { type Envelope, type EventEnvelope, Mailbox, type Sender } from "../../src/mailbox/mailbox.ts";
import { runs } from "../../../../test/runs.ts";

const envelopeOf = (number: number): EventEnvelope & { readonly sender: Sender } => ({
  event: { type: "cancel.requested", at: number },
  sender: { accepted: () => {}, refused: () => {}, failed: () => {} },
});

/** Operations on a mailbox: add at the end, add at the front, take the first, take back the one at a place. */
const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ type: "add" } as const) },
    { weight: 3, arbitrary: fc.constant({ type: "take" } as const) },
    fc.record({ type: fc.constant("addFirst" as const), count: fc.nat(3) }),
    fc.record({ type: fc.constant("takeBack" as const), place: fc.nat(20) }),
  ),
  { maxLength: 60 },
);

test("a mailbox gives its envelopes in order, whatever is added, taken and taken back meanwhile", () => {
  fc.assert(
    fc.property(acts, (given) => {
      const mailbox = new Mailbox();
      const model = new PlainMailbox();
      for (const act of given) {
        expect(model.did(act, mailbox)).toEqual([true, true]);
        expect([mailbox.size, mailbox.first]).toEqual([model.envelopes.length, model.envelopes[0]]);
        expect(mailbox.some(model.isNewest)).toBe(model.envelopes.some(model.isNewest));
      }
      expect(mailbox.end(new Error("over"))).toEqual(model.envelopes);
      expect(mailbox.size).toBe(0);
    }),
    { seed: 7, numRuns: runs(300) },
  );
});

test("a mailbox neither takes back nor diverts an envelope that was taken", () => {
  const mailbox = new Mailbox();
  const [first, second, third] = [envelopeOf(1), envelopeOf(2), envelopeOf(3)];
  for (const envelope of [first, second, third]) mailbox.add(envelope);
  expect(mailbox.take()).toBe(first);
  expect(mailbox.takeBack(first.sender)).toBe(false);
  expect(mailbox.first).toBe(second);
  for (const envelope of [envelopeOf(4), envelopeOf(5)]) mailbox.add(envelope);
  expect(mailbox.take()).toBe(second);
  const diverted: Envelope[] = [];
  mailbox.divert({ post: (envelope) => void diverted.push(envelope), takeBack: () => false, end: () => [] });
  expect(diverted).toMatchObject([third, { event: { at: 4 } }, { event: { at: 5 } }]);
});

test("a mailbox that has ended fails what is added, at either end, and returns what was posted elsewhere", () => {
  const mailbox = new Mailbox();
  const failed: Error[] = [];
  const sender: Sender = { accepted: () => {}, refused: () => {}, failed: (error) => failed.push(error) };
  const envelope = { ...envelopeOf(1), sender };
  mailbox.posted = new Map([["item", envelope]]);
  const over = new Error("over");
  expect(mailbox.end(over)).toEqual([envelope]);
  expect(mailbox.end(over)).toEqual([]);
  mailbox.add(envelope);
  mailbox.addFirst([envelope, envelope]);
  expect(failed).toEqual([over, over, over]);
});

type Act = NonNullable<ReturnType<typeof acts.generate>["value"]>[number];

/** The simplest mailbox. */
class PlainMailbox {
  envelopes: ReturnType<typeof envelopeOf>[] = [];
  #made = 0;

  readonly isNewest = (envelope: Envelope): boolean => "event" in envelope && envelope.event.at === this.#made - 1;

  /** Does the same on both mailboxes. Returns false for a difference. */
  did(act: Act, mailbox: Mailbox): readonly boolean[] {
    let [taken, takenBack] = [true, true];
    if (act.type === "add") {
      this.envelopes.push(envelopeOf(this.#made++));
      for (const envelope of this.envelopes.slice(-1)) mailbox.add(envelope);
    } else if (act.type === "addFirst") {
      const added = Array.from({ length: act.count }, () => envelopeOf(this.#made++));
      mailbox.addFirst(added);
      this.envelopes = [...added, ...this.envelopes];
    } else if (act.type === "take") taken = mailbox.take() === this.envelopes.shift();
    else {
      const { sender } = this.envelopes[act.place] ?? envelopeOf(-1);
      takenBack = mailbox.takeBack(sender) === this.envelopes.some((envelope) => envelope.sender === sender);
      this.envelopes = this.envelopes.filter((envelope) => envelope.sender !== sender);
    }
    return [taken, takenBack];
  }
}
