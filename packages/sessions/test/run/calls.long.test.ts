// `pnpm test` runs 20 sessions at once, the long run 100.
import "./calls.test.ts";
