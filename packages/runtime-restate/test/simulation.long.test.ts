// `pnpm test` simulates few conversations. The long run simulates all, and looks for every fault.
import "./simulation.test.ts";
