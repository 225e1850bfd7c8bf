import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The largest size of an agent's file, in bytes. */
const bytesMax = 262_144;

/**
 * Reads a file as UTF-8 text, without a byte order mark. Pipes and devices are refused, because reading one may never
 * end.
 *
 * @throws Error with a description for a path that does not exist, is not a file, is too large, or is not text.
 */
export const fileText = async (path: string): Promise<string> => {
  // Without the flag, opening a pipe blocks until another process writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((thrown: unknown) => {
    throw new Error(isMissing(thrown) ? "there is no such file" : `it can't be opened: ${String(thrown)}`);
  });
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw new Error("it is a folder; name the file of an agent");
    if (!stats.isFile()) throw new Error("it is a pipe or a device; name the file of an agent");
    // One byte more than allowed, because the file may have grown since.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, bytesMax) + 1), 0);
    if (bytesRead > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes, more than an agent takes`);
    return decoded(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
};

const decoded = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Error("it is no text in UTF-8; save it in that encoding", { cause: thrown });
  }
};

const isMissing = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
