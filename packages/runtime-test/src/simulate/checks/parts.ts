import { type AskHandle, type AskPart, OutputError } from "@colloquy/host";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";

/**
 * Reads the parts of an ask, and checks them. If it has a turn, they end with the end of that turn, each text belongs
 * to the step that was started last, and the answer contains the text of the last attempt. The parts of a repeated ask
 * may start in mid-turn.
 */
export const checkParts = (world: World, process: SimulatedProcess, handle: AskHandle): void => {
  const breaks = (what: string): void => {
    if (process.alive) world.breaks("settles", `the parts of ${handle.askId} ${what}`);
  };
  const read = async (): Promise<void> => {
    let last: AskPart | null = null;
    let text = "";
    let started: number | null = null;
    let attempt = 1;
    try {
      for await (const part of handle) {
        last = part;
        world.scribbling.given(part);
        if (part.type === "step.started" || (part.type === "signal" && part.signal.type === "retry.scheduled"))
          text = "";
        if (part.type === "thread.lost") text = "";
        if (part.type === "step.started") started = part.step;
        if (part.type !== "text.delta") continue;
        if (part.attempt !== attempt) text = "";
        attempt = part.attempt;
        text += part.text;
        if (started !== null && part.step !== started)
          breaks(`have a text of step ${part.step}, and last started step ${started}`);
      }
    } catch {
      // The handle rejects with the same error, which is checked.
      return;
    }
    if (last?.type !== "turn.ended") return breaks(`end with ${last?.type ?? "nothing"}`);
    if (last.status !== "completed") return;
    const result = await handle.catch(withoutOutput);
    if (result === null) return;
    // Parts of hosts that took the thread meanwhile are not shown.
    if (process.opening?.superseded === true) return;
    if (!result.text.includes(text))
      breaks(`say ${JSON.stringify(text)}, and its result ${JSON.stringify(result.text)}`);
  };
  void read().catch((error: unknown) => breaks(`can't be read: ${String(error)}`));
};

/**
 * Returns null for an invalid output. A turn may be complete although its answer is not a valid output for an ask that
 * was repeated with a stricter schema.
 */
const withoutOutput = (error: unknown): null => {
  if (error instanceof OutputError) return null;
  throw error;
};
