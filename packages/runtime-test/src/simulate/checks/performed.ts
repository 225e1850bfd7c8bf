import type { Tool } from "@colloquy/host";
import { type CallLlm, digestOfPrompt } from "@colloquy/machine";
import { checkPrompt } from "@colloquy/machine/policies";
import type { SimulatedProcess } from "../world/process.ts";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/** Checks the laws on a model call when it is made. */
export const checkModelCall = (
  world: World,
  process: SimulatedProcess,
  journal: WatchedJournal,
  call: CallLlm,
): void => {
  checkJournalled(world, process, journal, call.id);
  const asked = journal.asked.get(call.id);
  if (asked?.type === "callLlm" && asked.promptDigest !== call.promptDigest) {
    world.breaks(
      "R1",
      `"${call.id}" was journalled with the prompt ${asked.promptDigest}, and made with ${call.promptDigest}`,
    );
  }
  const problem = checkPrompt(call.messages);
  if (problem !== null) world.breaks("M10", `the prompt of "${call.id}", message ${problem.index}: ${problem.reason}`);
  if (digestOfPrompt(call.messages, call.output) !== call.promptDigest) {
    world.breaks("R5", `the prompt of "${call.id}" is not the one of its digest ${call.promptDigest}`);
  }
  // A summary may be written beside anything but another summary.
  const other = [...process.work].find(
    ({ type, signal }) => !signal.aborted && (type === "summary") === (call.purpose === "summary"),
  );
  if (other !== undefined) world.breaks("M7", `"${call.id}" was made while "${other.id}" was under way`);
};

/** Checks the laws on the run of a tool when it starts. */
export const checkToolCall = (
  world: World,
  process: SimulatedProcess,
  journal: WatchedJournal,
  { declaration }: Tool,
  key: string,
): void => {
  checkJournalled(world, process, journal, key);
  const { recovery } = declaration;
  const call = journal.asked.get(key);
  if (declaration.approval === "always" && call?.type === "callTool" && (call.approval ?? "required") === "required")
    world.breaks("R1", `${declaration.name} (${key}) runs, but was not approved`);
  if ((recovery === "once" || recovery === "ask") && !journal.started.has(key)) {
    world.breaks(
      "R1",
      `${declaration.name} (${key}) must not run again unseen, and runs before "tool.started" is journalled`,
    );
  }
  const other = [...process.work].find(({ type, signal }) => type === "answer" && !signal.aborted);
  if (other !== undefined) world.breaks("M7", `${declaration.name} (${key}) runs while "${other.id}" is under way`);
};

const checkJournalled = (world: World, process: SimulatedProcess, journal: WatchedJournal, id: string): void => {
  if (!journal.asked.has(id)) world.breaks("R1", `"${id}" is performed, and no entry of the journal asks for it`);
  const { opening } = process;
  if (opening === null) {
    world.breaks("R3", `"${id}" is performed by ${process.name}, which never held the thread`);
    return;
  }
  const performed = (opening.performed.get(id) ?? 0) + 1;
  opening.performed.set(id, performed);
  if (performed > 1) world.breaks("R2", `"${id}" is performed ${performed} times by ${process.name} under one lease`);
  if (process.clock.now() >= opening.until) {
    world.breaks("R3", `"${id}" is performed by ${process.name}, whose lease has run out`);
  }
  // A process that does not know the newest entry yet may still perform an effect that was requested before.
  const knows = process.knows === journal.entries.length - 1;
  if (knows && !journal.outstanding.some((effect) => effect.id === id)) {
    world.breaks("M6", `"${id}" is performed, and it is not outstanding any more`);
  }
};
