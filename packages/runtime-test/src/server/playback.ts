import { testError } from "./wire-error.ts";
import type { Endpoint } from "./endpoint.ts";
import { sendError } from "./json-response.ts";
import { type RecordedResponse, sendRecorded } from "./recorded-response.ts";

/** Recorded responses, sent in their order. */
export interface Playback {
  readonly endpoint: Endpoint;
  /** Throws if a request had no response left, or if a response was not used. */
  readonly assertComplete: () => void;
}

/** Answers the first request with the first response, and so on. */
export const playback = (recorded: readonly RecordedResponse[]): Playback => {
  let asked = 0;
  return {
    endpoint: async (_, response) => {
      const recording = recorded[asked++];
      if (recording === undefined) sendError(response, testError(beyond(asked, recorded.length)));
      else await sendRecorded(recording, response);
    },
    assertComplete: () => {
      if (asked > recorded.length) throw new Error(beyond(asked, recorded.length));
      if (asked < recorded.length) {
        throw new Error(
          `${recorded.length - asked} of ${recorded.length} recorded responses were not used, from number ${asked + 1} on: ` +
            "take them out, or find out why the requests did not come",
        );
      }
    },
  };
};

const beyond = (asked: number, recorded: number): string =>
  `request ${asked} came, and ${recorded === 1 ? "one response was" : `${recorded} responses were`} recorded: ` +
  "record one more, or find out why it was sent (a client that tries again by itself?)";
