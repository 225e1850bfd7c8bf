import { memoryStore } from "@colloquy/host";
import { hold } from "./hold.ts";
for (let i = 29; i < 105; i++) {
const t = performance.now();
let st: any, pace: any;
const p = hold({ openStore: async (pc) => (pace = pc, st = memoryStore({clock: pc.clock})), diesAt: i, runAgain: i % 2 === 0 });
const to = setTimeout(async () => { console.log("HANG at", i, pace.clock.now(), pace.clock.pending().length); for (const e of await st.read("crashed")) console.log(JSON.stringify(e).slice(0,160)); process.exit(); }, 4000);
const h = await p; clearTimeout(to);
console.log(i, Math.round(performance.now()-t), JSON.stringify(h.points.at(-1)), h.journal.length); 
}
