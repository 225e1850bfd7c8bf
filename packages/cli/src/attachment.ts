import type { Readable } from "node:stream";
import { ArgumentError } from "./exit-code.ts";

/**
 * Reads piped input as a part of the question; null if there is none.
 *
 * @throws ArgumentError for input that is not text, and for more than a model is likely to accept.
 */
export const attachmentFrom = async (input: Readable, signal: AbortSignal): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (): void => void input.destroy();
  signal.addEventListener("abort", stop);
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk as string | Buffer);
      size += bytes.length;
      if (size > sizeMax)
        throw new ArgumentError(
          `what comes from the pipe has more than ${sizeMax.toLocaleString("en")} bytes; attach the part that the question is about`,
        );
      chunks.push(bytes);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const text = textOf(Buffer.concat(chunks));
  return text.trim() === "" ? null : `# Attached: standard input\n\n${text}`;
};

const sizeMax = 1_000_000;

const textOf = (bytes: Buffer): string => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {}
  throw new ArgumentError("what comes from the pipe is binary, and not text in UTF-8; convert it to text first");
};
