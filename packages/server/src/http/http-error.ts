/** A refusal of a request. Its message is sent to the client. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly type: string;
  /** The invalid member of the body, or the invalid parameter. */
  readonly param: string | null;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    details: {
      readonly type?: string;
      readonly param?: string | null;
      readonly code?: string | null;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.type = details.type ?? (status < 500 ? "invalid_request_error" : "server_error");
    this.param = details.param ?? null;
    this.code = details.code ?? null;
    this.headers = details.headers ?? {};
  }
}

/** Creates the refusal of a request that cannot be meant (400). @param param the member or parameter that is wrong */
export const invalid = (message: string, param: string | null = null, code: string | null = null): HttpError =>
  new HttpError(400, message, { param, code });

/** Formats an error for all routes: `{ error: { message, type, param, code } }`, as OpenAI's clients read it. */
export const errorResponse = ({ status, message, type, param, code, headers }: HttpError): Response =>
  Response.json({ error: { message, type, param, code } }, { status, headers });

/** Removes the advice to use a function's option, which no request has. */
export const withoutRepair = (reason: string): string => reason.replace("; or import with { repair: true }", "");
