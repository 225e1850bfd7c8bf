// `pnpm test` has 20 sessions at once. The long run has 100.
import "./calls.test.ts";
