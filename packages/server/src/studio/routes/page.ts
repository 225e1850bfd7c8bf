import type { Route } from "@colloquy/server";
import type { Assets } from "./options.ts";

/** Returns the routes of the page and its files. */
export const pageRoutes = (assets: Assets): readonly Route[] => [
  { method: "GET", path: "/", handle: () => new Response(null, { status: 303, headers: { location: "/studio" } }) },
  file("/studio", "text/html; charset=utf-8", page),
  file("/studio/icon.svg", "image/svg+xml", icon),
  ...[...assets].map(([name, text]) => file(`/studio/${name}`, typeOf(name), text)),
];

const file = (path: string, type: string, text: string): Route => ({
  method: "GET",
  path,
  handle: () => new Response(text, { headers: { ...headers, "content-type": type } }),
});

/**
 * Nothing is loaded from elsewhere, and no inline script runs. If the browser supports trusted types, it refuses to
 * parse any text as HTML.
 */
const headers = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // Not cached, so that page and scripts have the same version.
  "cache-control": "no-cache",
};

const typeOf = (name: string): string => `${name.endsWith(".css") ? "text/css" : "text/javascript"}; charset=utf-8`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Colloquy Studio</title>
<link rel="icon" href="/studio/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/studio/page.css">
<script type="module" src="/studio/page.js"></script>
</head>
<body></body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 3h9a3 3 0 0 1 0 6H6l-4 4z" fill="#4f6bed"/><circle cx="12.5" cy="11.5" r="2.5" fill="#c98a2b"/></svg>`;
