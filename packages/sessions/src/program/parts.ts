import type { AskPart } from "@colloquy/host";
import type { Fields } from "./fields.ts";

/** A piece of what happens to a call, in order. */
export type CallPart =
  | AskPart
  /** The program says how far it is. */
  | { readonly type: "status"; readonly text: string }
  /** The program shows outputs, as far as they are known. They are checked only when they are whole. */
  | { readonly type: "partial"; readonly outputs: Fields }
  /** What happens to a call within the program: of a model, or of another program. */
  | { readonly type: "nested"; readonly name: string; readonly threadId: string | null; readonly part: CallPart };
