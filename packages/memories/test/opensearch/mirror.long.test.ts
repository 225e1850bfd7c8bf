// `pnpm test` crashes at each fourth request. The long run crashes at each.
import "./mirror.test.ts";
