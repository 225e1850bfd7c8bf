import { type CallLlm, phaseOf } from "@colloquy/machine";
import { type CanonicalCall, canonicalOfMessage, sha256OfMessages } from "./canonical.ts";
import type { RecordedChatCase } from "./case.ts";
import { contrast, firstDifference, glimpse } from "./difference.ts";
import { type Drive, soleCall, toolCallsOut } from "./drive.ts";
import type { Transcript, TranscriptMessage } from "./transcript.ts";

/** Returns the k-th model call, or a description of its difference from the recording. */
export const checkedCall = (
  driven: Drive,
  recorded: RecordedChatCase,
  transcript: Transcript,
  k: number,
): CallLlm | string => {
  const call = soleCall(driven);
  if (typeof call === "string")
    return `a model call should be out, and nothing else; out is ${call} (${phaseOf(driven.state)})`;
  const expected = recorded.expect.calls[k];
  if (expected === undefined) return `model call ${k} is one too many: ${recorded.expect.calls.length} were expected`;
  const came = call.messages.map(canonicalOfMessage);
  const words = messagesDifference(
    came,
    transcript.messages.slice(0, transcript.prompts[k]),
    expected.messages,
    expected.sha256,
  );
  return words === null ? call : `model call ${k}: ${words}`;
};

/**
 * Describes the difference between the outstanding tool calls and those of a reply, in its order; null if there is
 * none.
 */
export const toolCallsDifference = (driven: Drive, recorded: readonly CanonicalCall[]): string | null => {
  const out = toolCallsOut(driven);
  for (let position = 0; position < Math.max(out.length, recorded.length); position++) {
    const call = out[position];
    const came =
      call === undefined ? undefined : { id: call.providerCallId, name: call.name, arguments: call.arguments };
    const expected = recorded[position];
    if (came === undefined) return `tool call ${position} was not asked for: recorded ${JSON.stringify(expected)}`;
    if (expected === undefined) return `tool call ${position} is one too many: came ${JSON.stringify(came)}`;
    for (const field of ["id", "name", "arguments"] as const) {
      // The recorded call may be of a kind that lacks this field; then the other fields identify it.
      if (expected[field] !== undefined && came[field] !== expected[field])
        return `tool call ${position}, ${field}: ${contrast(came[field], expected[field])}`;
    }
  }
  return null;
};

/**
 * Describes the difference between a list of messages and the messages of the steps, or their recorded hash; null if
 * there is none.
 */
export const messagesDifference = (
  came: readonly TranscriptMessage["message"][],
  transcript: readonly TranscriptMessage[],
  length: number,
  sha256: string,
): string | null => {
  const different = firstDifference(
    came,
    transcript.map(({ message }) => message),
  );
  return different ?? recordDifference(transcript, length, sha256);
};

/** Returns how a record contradicts its own hash; null if it does not. */
const recordDifference = (transcript: readonly TranscriptMessage[], length: number, sha256: string): string | null => {
  const came = transcript.map(({ message }) => message);
  if (came.length !== length) return `${came.length} messages came, as in the steps; ${length} are recorded`;
  const actual = sha256OfMessages(came);
  if (actual === sha256) return null;
  return `the ${length} messages are those of the steps, but their hash is ${actual.slice(0, 12)}…, recorded ${sha256.slice(0, 12)}…: ${suspects(transcript)} was changed after the recording, or the hash was`;
};

/** Returns whether the steps of a record have its hashes. A damaged record must not pass for one that no thread can express. */
export const isAsRecorded = ({ expect }: RecordedChatCase, { messages, prompts }: Transcript): boolean =>
  recordDifference(messages, expect.messages_final, expect.final_sha256) === null &&
  prompts.every((length, k) => {
    const expected = expect.calls[k];
    return (
      expected !== undefined && recordDifference(messages.slice(0, length), expected.messages, expected.sha256) === null
    );
  });

/** Describes the messages since the previous call, whose hash was right. */
const suspects = (transcript: readonly TranscriptMessage[]): string => {
  const call = transcript.findLastIndex(({ message, step }) => step !== null && message.role === "assistant");
  const fresh = transcript.slice(Math.max(call, 0));
  return `one of the last ${fresh.length} (${fresh
    .map(({ message }) => glimpse(message))
    .join("; ")
    .slice(0, suspectCharacters)})`;
};

const suspectCharacters = 300;
