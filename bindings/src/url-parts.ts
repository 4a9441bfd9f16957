/** Parses and formats URLs, by the URL standard (https://url.spec.whatwg.org). */

import { parseHost } from "./host-name";
import { percentEncode } from "./percent";

export interface Parts {
  scheme: string;
  username: string;
  password: string;
  /** null if the URL has no host, as in `mailto:x` */
  host: string | null;
  /** empty if it is the default port of the scheme */
  port: string;
  /** the segments, or a string if the path is opaque, as in `mailto:x` */
  path: string[] | string;
  query: string | null;
  fragment: string | null;
}

const ports: Record<string, string> = { http: "80", https: "443", ws: "80", wss: "443", ftp: "21", file: "" };
export const isSpecial = (scheme: string) => Object.hasOwn(ports, scheme);

const controls = /[^ -~]/gu;
export const fragmentSet = /[^!#-;=?-_a-~]/gu;
export const querySet = /[^!$-;=?-~]/gu;
export const specialQuerySet = /[^!$-&(-;=?-~]/gu;
const pathSet = /[^!$-;=@-\]_a-z|~]/gu;
export const userSet = /[^!$-.0-9A-Z_a-z~]/gu;

const driveLetter = /^[a-z][:|]$/i;
const startsWithDrive = /^[a-z][:|]([/\\]|$)/i;

function shorten(url: Parts): void {
  const path = url.path as string[];
  if (url.scheme === "file" && path.length === 1 && /^[a-z]:$/i.test(path[0])) return;
  path.pop();
}

/** Appends the segments of a text to the path. */
export function addPath(url: Parts, text: string): void {
  const special = isSpecial(url.scheme);
  if (/^\//.test(text) || (special && text[0] === "\\")) text = text.slice(1);
  else if (!text && !special) return;
  const path = url.path as string[];
  const segments = text.split(special ? /[/\\]/ : "/");
  for (let i = 0; i < segments.length; i++) {
    const last = i === segments.length - 1;
    const plain = segments[i].replace(/%2e/gi, ".");
    if (plain === "..") {
      shorten(url);
      if (last) path.push("");
    } else if (plain === ".") {
      if (last) path.push("");
    } else {
      let segment = percentEncode(segments[i], pathSet);
      if (url.scheme === "file" && !path.length && driveLetter.test(segments[i])) segment = segments[i][0] + ":";
      path.push(segment);
    }
  }
}

/** Reads `user:password@host:port`. Returns false if it is invalid. */
function setAuthority(url: Parts, text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at >= 0) {
    const [, user, password = ""] = /^([^:]*):?([^]*)$/.exec(text.slice(0, at))!;
    url.username = percentEncode(user, userSet);
    url.password = percentEncode(password, userSet);
  }
  const [, host, colon, port = ""] = /^((?:\[[^\]]*\]|[^:[])*[^:]*)(:?)([^]*)$/.exec(text.slice(at + 1))!;
  if (!host && (isSpecial(url.scheme) || colon || at >= 0)) return false;
  const parsed = host && parseHost(host, isSpecial(url.scheme));
  if (parsed === undefined || !setPort(url, port)) return false;
  url.host = parsed;
  return true;
}

export function setPort(url: Parts, text: string): boolean {
  if (!/^\d*$/.test(text) || Number(text) > 65535) return false;
  const port = text && String(Number(text));
  url.port = port === ports[url.scheme] ? "" : port;
  return true;
}

export function parse(input: string, base?: Parts): Parts | undefined {
  let text = input.replace(/^[\0- ]+|[\0- ]+$/g, "").replace(/[\t\n\r]/g, "");
  const url: Parts = {
    scheme: "",
    username: "",
    password: "",
    host: null,
    port: "",
    path: [],
    query: null,
    fragment: null,
  };
  const hash = text.indexOf("#");
  if (hash >= 0) {
    url.fragment = percentEncode(text.slice(hash + 1), fragmentSet);
    text = text.slice(0, hash);
  }
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text);
  if (scheme) {
    url.scheme = scheme[1].toLowerCase();
    text = text.slice(scheme[0].length);
  } else if (!base) {
    return undefined;
  } else {
    url.scheme = base.scheme;
    if (typeof base.path === "string") return text || hash < 0 ? undefined : { ...base, fragment: url.fragment };
  }
  const special = isSpecial(url.scheme);
  const mark = text.indexOf("?");
  const encodeQuery = () => {
    if (mark >= 0) url.query = percentEncode(text.slice(mark + 1), special ? specialQuerySet : querySet);
  };
  const rest = mark < 0 ? text : text.slice(0, mark);
  const slash = special ? /[/\\]/ : /\//;

  const authority = (from: string): Parts | undefined => {
    const end = from.search(slash);
    if (!setAuthority(url, end < 0 ? from : from.slice(0, end))) return undefined;
    addPath(url, end < 0 ? "" : from.slice(end));
    encodeQuery();
    return url;
  };

  if (url.scheme === "file")
    return parseFile(url, rest, base?.scheme === "file" ? base : undefined, encodeQuery, mark >= 0);
  if (scheme && special && !(base?.scheme === url.scheme && !/^\/\//.test(rest)))
    return authority(rest.replace(/^[/\\]+/, ""));
  if (scheme && !special) {
    if (/^\/\//.test(rest)) return authority(rest.slice(2));
    if (rest[0] === "/") addPath(url, rest);
    else url.path = percentEncode(rest, controls);
    encodeQuery();
    return url;
  }
  const from = base!;
  if (slash.test(rest[0] ?? "") && slash.test(rest[1] ?? ""))
    return authority(special ? rest.replace(/^[/\\]+/, "") : rest.slice(2));
  url.username = from.username;
  url.password = from.password;
  url.host = from.host;
  url.port = from.port;
  if (!slash.test(rest[0] ?? "")) {
    url.path = (from.path as string[]).slice();
    if (!rest) {
      if (mark < 0) url.query = from.query;
      encodeQuery();
      return url;
    }
    shorten(url);
    addPath(url, "/" + rest);
  } else {
    addPath(url, rest);
  }
  encodeQuery();
  return url;
}

function parseFile(
  url: Parts,
  rest: string,
  base: Parts | undefined,
  encodeQuery: () => void,
  hasQuery: boolean,
): Parts | undefined {
  url.host = "";
  if (/^[/\\]{2}/.test(rest)) {
    const [, host, path] = /^([^/\\]*)([^]*)$/.exec(rest.slice(2))!;
    if (driveLetter.test(host)) {
      addPath(url, "/" + host + path);
    } else {
      const parsed = host && parseHost(host, true);
      if (parsed === undefined) return undefined;
      url.host = parsed === "localhost" ? "" : parsed;
      addPath(url, path);
    }
  } else if (/^[/\\]/.test(rest)) {
    if (base) {
      url.host = base.host;
      if (!startsWithDrive.test(rest.slice(1)) && /^[a-z]:$/i.test(base.path[0] ?? ""))
        (url.path as string[]).push(base.path[0]);
    }
    addPath(url, rest);
  } else if (base) {
    url.host = base.host;
    if (!rest) {
      url.path = (base.path as string[]).slice();
      if (!hasQuery) url.query = base.query;
    } else {
      if (!startsWithDrive.test(rest)) {
        url.path = (base.path as string[]).slice();
        shorten(url);
      }
      addPath(url, "/" + rest);
    }
  } else {
    addPath(url, rest);
  }
  encodeQuery();
  return url;
}

export function pathText({ path }: Parts): string {
  return typeof path === "string" ? path : path.map((segment) => "/" + segment).join("");
}

export function hostText({ host, port }: Parts): string {
  return (host ?? "") + (port && ":" + port);
}

export function format(url: Parts): string {
  let text = url.scheme + ":";
  if (url.host !== null) {
    text +=
      "//" +
      url.username +
      (url.password && ":" + url.password) +
      (url.username || url.password ? "@" : "") +
      hostText(url);
  } else if (typeof url.path !== "string" && url.path.length > 1 && !url.path[0]) {
    text += "/.";
  }
  return (
    text +
    pathText(url) +
    (url.query === null ? "" : "?" + url.query) +
    (url.fragment === null ? "" : "#" + url.fragment)
  );
}
