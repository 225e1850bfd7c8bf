import type { AskPart } from "@colloquy/host";
import type { Fields } from "./fields.ts";

/** An event in the progress of a call, in order. */
export type CallPart =
  | AskPart
  /** A progress message of the program. */
  | { readonly type: "status"; readonly text: string }
  /** Outputs so far. They are checked only when they are complete. */
  | { readonly type: "partial"; readonly outputs: Fields }
  /** A part of a nested call of a model, or of another program. */
  | { readonly type: "nested"; readonly name: string; readonly threadId: string | null; readonly part: CallPart };
