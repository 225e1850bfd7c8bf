// Two turns of a thread, for docs/what-it-is-for.md. A scripted model takes the place of a real one.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";

const llm = scriptedModel([
  reply("Thank you."),
  reply("On its way.", { expects: ({ mentions }) => mentions("order 17") }),
]);
const host = createHost({ llm, store: memoryStore() });

const thread = host.thread("ada"); // a conversation, by its id
await thread.ask("My kettle is order 17.");
await thread.ask("Where is it?"); // the model sees the first turn, also after a restart

llm.assertComplete();
await host.close();
