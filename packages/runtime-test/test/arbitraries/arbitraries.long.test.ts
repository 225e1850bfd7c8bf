// `pnpm test` draws small samples. The long run draws all.
import "./arbitraries.test.ts";
