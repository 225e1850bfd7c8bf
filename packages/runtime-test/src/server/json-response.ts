import type { ServerResponse } from "node:http";
import { bodyOfError, type WireError } from "./wire-error.ts";

/** Sends a whole JSON body. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: { readonly [name: string]: string } = {},
): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
};

/** Sends an error in OpenAI's shape. */
export const sendError = (response: ServerResponse, error: WireError): void => {
  sendJson(response, error.status, bodyOfError(error), error.headers);
};
