// A separate process that streams a reply of many deltas over loopback HTTP to each POST, so that the CPU of serving
// does not count with that of reading. It reports its port to its parent.
import { createServer } from "node:http";
import { deltas } from "./kit/work.ts";

const chunk = (delta: object, finishReason: string | null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })}\n\n`;

const body = [...deltas.map((content) => chunk({ content }, null)), chunk({}, "stop"), "data: [DONE]\n\n"].join("");

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(body);
  });
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.once("disconnect", () => process.exit());
