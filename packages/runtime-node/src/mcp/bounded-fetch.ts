import { errorTextOf } from "@colloquy/host/runtime";

/**
 * Wraps a fetch so that endless responses break off. The limit is 10 MB for a body, as for standard output, and for
 * each event of a stream. The body of an error is cut at the length up to which errors are read.
 */
export const boundedFetch =
  (own: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await own(input, init);
    const { body, status, statusText, headers } = response;
    // The client handles redirects, from the response itself.
    if (body === null || !(response.ok || status >= 400)) return response;
    if (!response.ok)
      return new Response(await errorTextOf(response, init?.signal ?? undefined), { status, statusText, headers });
    const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
    return new Response(body.pipeThrough(bound(isStream)), { status, statusText, headers });
  };

const bytesMax = 10_000_000;
const lineFeed = 10;
const carriageReturn = 13;

const bound = (isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  let bytes = 0;
  let isLineEmpty = false;
  return new TransformStream({
    transform: (chunk, controller) => {
      for (const byte of isStream ? chunk : []) {
        bytes += 1;
        if (byte === lineFeed && isLineEmpty) bytes = 0;
        if (byte !== carriageReturn) isLineEmpty = byte === lineFeed;
      }
      if (!isStream) bytes += chunk.byteLength;
      if (bytes > bytesMax) controller.error(new Error(`the server sent more than ${bytesMax} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
};
