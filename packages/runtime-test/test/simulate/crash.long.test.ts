// `pnpm test` crashes at some of the steps. The long run crashes at each.
import "./crash.test.ts";
