// Tools that the caller runs: it declares them, and answers their calls when it can. docs/approvals.md shows it.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const store = memoryStore();
const llm = scriptedModel([toolCalls([{ name: "pick_seat", arguments: { row: 12 } }]), reply("You sit in 12C.")]);
const first = createHost({ store, llm });

const asked = first.ask("A seat at the aisle, please.", {
  threadId: "trip",
  tools: [{ name: "pick_seat", description: "Lets the user pick a seat.", input: z.object({ row: z.int() }) }],
});
for await (const part of asked) {
  if (part.type !== "result.requested") continue;
  console.log(part.callId, part.name, part.arguments);
  break;
}
await first.close();

// Days later, in another process.
const second = createHost({ store, llm });
const trip = second.thread("trip");
const [call] = await trip.callsToAnswer();
if (call !== undefined) {
  const { turn } = await trip.answerTool(call.callId, "12C");
  console.log((await turn)?.text);
}
await second.close();
