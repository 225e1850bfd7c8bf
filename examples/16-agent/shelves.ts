import { tool } from "@colloquy/runtime-node";
import { z } from "zod";

/** archivist.md names this tool. It is loaded only if the program allows it. */
export const shelf = tool({
  name: "shelf",
  description: "On which shelf a book stands.",
  input: z.object({ book: z.string() }),
  run: ({ book }) => shelves[book] ?? "nowhere",
});

const shelves: Readonly<Record<string, string>> = { Emma: "shelf 3", Ulysses: "shelf 7" };
