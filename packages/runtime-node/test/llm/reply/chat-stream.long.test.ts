// `pnpm test` decodes some of the recorded streams. The long run decodes all.
import "./chat-stream.test.ts";
