/** Why a request is refused: its message is what the client reads. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly type: string;
  /** The member of the body, or the parameter, that is to blame. */
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

/** An error as all routes answer it: `{ error: { message, type, param, code } }`, as OpenAI's clients read it. */
export const errorResponse = ({ status, message, type, param, code, headers }: HttpError): Response =>
  Response.json({ error: { message, type, param, code } }, { status, headers });

/** Why items can't be read, without the advice of a function's option: no request has it. */
export const withoutRepair = (reason: string): string => reason.replace("; or import with { repair: true }", "");
