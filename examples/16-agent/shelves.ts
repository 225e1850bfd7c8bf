import { tool } from "@colloquy/runtime-node";
import { z } from "zod";

/** Named by archivist.md: it is loaded only where that is allowed. */
export const shelf = tool({
  name: "shelf",
  description: "On which shelf a book stands.",
  input: z.object({ book: z.string() }),
  run: ({ book }) => shelves[book] ?? "nowhere",
});

const shelves: Readonly<Record<string, string>> = { Emma: "shelf 3", Ulysses: "shelf 7" };
