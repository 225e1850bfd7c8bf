// Does the same work with the peers: one thread of turns (model, tool, model), stored as each peer documents it. The
// figures are only reported, not bounds, since the peers do other things besides.
import { benchmarkHost, fileBytes, fileStore, onFile } from "./kit/hosts.ts";
import { cpuMicros, type Figure, median, short } from "./kit/measure.ts";
import { langGraph } from "./peers/lang-graph.ts";
import { openAiAgents } from "./peers/openai-agents.ts";
import type { OpenPeer, Peer } from "./peers/peer.ts";
import { userText } from "./kit/script.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const ours = await measured(colloquy, rounds);
  const figures: Figure[] = [];
  for (const [name, open] of Object.entries({ "OpenAI Agents": openAiAgents, LangGraph: langGraph })) {
    const theirs = await measured(open, rounds);
    figures.push(
      {
        name: `${turns} turns on one thread, CPU: ours / ${name}`,
        value: ours.micros / theirs.micros,
        most: Number.POSITIVE_INFINITY,
        note: `${short(ours.micros)} µs a turn against ${short(theirs.micros)}`,
      },
      {
        name: `${turns} turns on one thread, bytes stored: ours / ${name}`,
        value: ours.bytes / theirs.bytes,
        most: Number.POSITIVE_INFINITY,
        note: `${ours.bytes} against ${theirs.bytes}`,
      },
    );
  }
  return figures;
};

const turns = 100;

const colloquy: OpenPeer = async (path): Promise<Peer> => {
  const store = fileStore(path);
  const host = benchmarkHost({ store });
  const thread = host.thread("main");
  return {
    turn: async (text) => void (await thread.ask(text)),
    close: async () => {
      await host.close();
      await store.close();
      return fileBytes(path);
    },
  };
};

const measured = async (
  open: OpenPeer,
  rounds: number,
): Promise<{ readonly micros: number; readonly bytes: number }> => {
  const micros: number[] = [];
  let bytes = 0;
  for (let round = 0; round <= rounds; round++) {
    await onFile(async (path) => {
      const peer = await open(path);
      const before = cpuMicros();
      for (let turn = 1; turn <= turns; turn++) await peer.turn(userText(turn));
      // The first round warms up.
      if (round > 0) micros.push((cpuMicros() - before) / turns);
      bytes = await peer.close();
    });
  }
  return { micros: median(micros), bytes };
};
