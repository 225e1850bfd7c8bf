// Reading an `Either` without fp-ts: docs/conversation.md shows it.
import { decodeEvent, describeDecodeError } from "@colloquy/machine/journal";

for (const given of [
  { type: "system.reset", at: 1 },
  { type: "system.rest", at: 1 },
]) {
  const decoded = decodeEvent(given);
  if ("left" in decoded) console.log(`no event: ${describeDecodeError(decoded.left)}`);
  else console.log(`an event: ${decoded.right.type}`);
}
