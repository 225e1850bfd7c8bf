import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";

/** Starts a service on this machine that creates conversations. Over HTTPS its certificate has another host's name. */
export const opensearchOver = async (protocol: "http" | "https") => {
  const requests: { readonly encoding: string | undefined; readonly text: string }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const encoding = request.headers["content-encoding"];
    requests.push({ encoding, text: String(encoding === "gzip" ? gunzipSync(body) : body) });
    response.setHeader("content-type", "application/json").end('{"conversation_id":"c1"}');
  };
  const answer: RequestListener = (request, response) => void take(request, response);
  const server = protocol === "http" ? createHttpServer(answer) : createHttpsServer({ key, cert: certificate }, answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { node: `${protocol}://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, requests };
};

/** A self-signed certificate of elsewhere.example, valid until 2126. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBkDCCATWgAwIBAgIUFPk/cbqpHPcLglDAejuq2TzyC30wCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRZWxzZXdoZXJlLmV4YW1wbGUwIBcNMjYxMTI3MTgwODEyWhgP
MjEyNjExMDMxODA4MTJaMBwxGjAYBgNVBAMMEWVsc2V3aGVyZS5leGFtcGxlMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJ2OmDYaY50NBp3TLbDekDWe9DcKqDRis
1i+ct4zsk99+VU9Naa7dXj+pwvETPhcX0RVt3VCHZT2GTOsnVnJPU6NTMFEwHQYD
VR0OBBYEFEEqm0SzJ9+xq5bWXkKNyXJzQiVAMB8GA1UdIwQYMBaAFEEqm0SzJ9+x
q5bWXkKNyXJzQiVAMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIh
APbbGfUoR4lnHwZklEAwwo/KWdKCxReK3LtRXqygu9m1AiEAw3E3WdQTkGpknpGF
2LNIw8kf/d43WK2KuAxUDZ3vOEk=
-----END CERTIFICATE-----
`;

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgroafqtOnsKStx3gp
4C/so6H/Gris7UZwcLxhF5DfA8ihRANCAAQnY6YNhpjnQ0GndMtsN6QNZ70NwqoN
GKzWL5y3jOyT335VT01prt1eP6nC8RM+FxfRFW3dUIdlPYZM6ydWck9T
-----END PRIVATE KEY-----
`;
