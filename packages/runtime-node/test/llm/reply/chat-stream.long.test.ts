// `pnpm test` decodes some of the recorded streams, the long run all.
import "./chat-stream.test.ts";
