// `pnpm test` tries few conversations. The long run tries all.
import "./machine-laws.test.ts";
