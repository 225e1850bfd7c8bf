// `pnpm test` observes a part of some journals. The long run observes all.
import "./live.test.ts";
