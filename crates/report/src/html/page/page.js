// Behavior of the page: creates deferred content when it is opened, switches themes, and opens the
// targets of links.

const root = document.documentElement;

/** Unpacks deferred content and charts within `part`, except in closed parts. */
function make(part) {
  const waiting = [...part.querySelectorAll("script[type='text/plain']")];
  return Promise.all(waiting.filter((one) => !one.closest("details:not([open])")).map(take));
}

async function take(script) {
  const parent = script.parentElement;
  // Removed first, so that it is unpacked only once.
  script.remove();
  parent.ariaBusy = "true";
  try {
    const response = unpacked(script.textContent);
    if (parent.matches(".figures")) {
      for (const chart of await response.json()) figure(chart, parent);
    } else {
      parent.insertAdjacentHTML("beforeend", await response.text());
      await make(parent);
    }
  } catch (error) {
    parent.append("This browser cannot show what belongs here.");
    throw error;
  } finally {
    parent.ariaBusy = null;
  }
}

/** Unpacks content of the page: base64, compressed with deflate. */
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream);
}

/** Opens the target of the URL fragment and all parts around it. */
function follow() {
  const found = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const innermost = found && found.closest("details");
  if (!innermost) return;
  for (let one = innermost; one; one = one.parentElement.closest("details")) one.open = true;
  innermost.scrollIntoView();
}

const isDark = () => getComputedStyle(root).colorScheme === "dark" ||
  (getComputedStyle(root).colorScheme !== "light" &&
    matchMedia("(prefers-color-scheme: dark)").matches);

/** Sets the theme; an empty string selects the reader's preference. */
function setTheme(theme) {
  root.style.colorScheme = theme;
  // The button names its action, so it shows the other theme.
  themeButton.textContent = isDark() ? "Light" : "Dark";
  figures.forEach(redraw);
}

const themeButton = document.querySelector("button.theme");
themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  setTheme(root.style.colorScheme);
});

// For print, use the light theme and narrower charts.
let onScreen = "";
addEventListener("beforeprint", () => {
  onScreen = root.style.colorScheme;
  setTheme("light");
  // Two charts side by side on a single sheet.
  const isSheet = document.querySelector(".sheet") !== null;
  const size = isSheet ? { width: 320, height: 130 } : { width: 640, height: 240 };
  figures.forEach(({ drawn }) => drawn.setSize(size));
});
addEventListener("afterprint", () => setTheme(onScreen));

document.addEventListener("toggle", (event) => event.target.open && make(event.target), true);
addEventListener("hashchange", follow);
// A link to the current fragment fires no `hashchange`, but its target may be closed.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.hash === location.hash) follow();
});
setTheme("");
make(document);
follow();
