"use strict";
(() => {
  const table = document.getElementById("records");
  const bodies = Array.from(table.tBodies);
  const cell = (body, at) => body.rows[0].cells[at];

  const key = (body, at, kind) => {
    if (kind === "text") return cell(body, at).textContent.trim();
    const value = cell(body, at).dataset.value;
    return value === "" ? null : Number(value);
  };

  // A record without a value comes last, whichever way the column is sorted.
  const compare = (left, right, down) => {
    if (left === null || right === null) return (left === null) - (right === null);
    const order = typeof left === "number" ? left - right : left.localeCompare(right, undefined, { numeric: true });
    return down ? -order : order;
  };

  for (const button of table.querySelectorAll("button[data-sort]")) {
    button.addEventListener("click", () => {
      const heading = button.parentElement;
      const down = heading.getAttribute("aria-sort") === "ascending";
      const at = Number(button.dataset.sort);
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = bodies.map((body) => [key(body, at, button.dataset.kind), body]);
      keyed.sort((left, right) => compare(left[0], right[0], down));
      for (const [, body] of keyed) table.append(body);
    });
  }

  for (const button of table.querySelectorAll("button.open")) {
    button.addEventListener("click", () => {
      const more = button.closest("tbody").rows[1];
      more.hidden = !more.hidden;
      button.setAttribute("aria-expanded", String(!more.hidden));
    });
  }

  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const body of bodies) body.hidden = !body.textContent.toLowerCase().includes(wanted);
  });
})();
