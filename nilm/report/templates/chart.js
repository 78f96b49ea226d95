"use strict";
// The power through the week, drawn by Bokeh: zoom by dragging, watts at the pointer, names that hide and isolate.
(() => {
  const place = document.querySelector("#power .chart");
  const still = document.querySelector("#power .still");
  const data = JSON.parse(document.getElementById("power-data").textContent);
  const numbers = (text) =>
    new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const metered = numbers(data.metered_w);
  const powers = data.layers.map((layer) => numbers(layer.power_w));
  const bin = data.bin_s * 1000;
  const x = Float64Array.from(metered, (_, n) => data.start_ms + n * bin);
  const end = data.start_ms + metered.length * bin;
  const shown = powers.map(() => true);

  // Bokeh draws on a canvas, which knows no CSS variables.
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (layer) => css(layer.hue === null ? "--muted" : "--c" + layer.hue);

  // Layer n lies on those below it that are shown; what feeds in is piled up below zero.
  const piled = () => {
    const columns = { x };
    const above = new Float32Array(x.length);
    const below = new Float32Array(x.length);
    powers.forEach((power, n) => {
      const low = new Float32Array(x.length);
      const high = new Float32Array(x.length);
      for (let i = 0; i < x.length; i++) {
        const base = power[i] < 0 ? below : above;
        low[i] = base[i];
        if (shown[n] && power[i]) base[i] += power[i];  // NaN, where there is no data, adds nothing
        high[i] = base[i];
      }
      columns["low" + n] = low;
      columns["high" + n] = high;
    });
    return columns;
  };

  Bokeh.logger.set_level("error");
  still.hidden = true;
  place.hidden = false;
  const source = new Bokeh.ColumnDataSource({ data: piled() });
  const bounds = [data.start_ms, end];
  const range = new Bokeh.Range1d({ start: bounds[0], end: bounds[1], bounds, min_interval: 15 * 60e3 });
  const drag = new Bokeh.BoxZoomTool({ dimensions: "width" });
  const feedsIn = powers.some((power) => power.some((watts) => watts < 0)) || metered.some((watts) => watts < 0);
  const plot = Bokeh.Plotting.figure({
    height: 340, sizing_mode: "stretch_width", x_axis_type: "datetime", x_range: range,
    y_range: new Bokeh.DataRange1d({ only_visible: true, ...(feedsIn ? {} : { start: 0 }) }),  // a small appliance alone fills the height
    y_axis_label: "power (W)", tools: [drag], toolbar_location: null, background_fill_alpha: 0, border_fill_alpha: 0, outline_line_alpha: 0,
    lod_threshold: null,
  });
  // A finger scrolls the page; the buttons of the days zoom there.
  plot.toolbar.active_drag = matchMedia("(pointer: coarse)").matches ? null : drag;
  plot.xaxis.formatter = new Bokeh.DatetimeTickFormatter({
    minutes: "%H:%M", hourmin: "%H:%M", hours: "%H:%M", days: place.clientWidth < 700 ? "%a" : "%a %-d %b",
  });
  plot.yaxis.formatter = new Bokeh.NumeralTickFormatter({ format: "0,0" });
  const patterns = [null, "/", ".", "\\"];
  const areas = data.layers.map((layer, n) => plot.varea_step({
    x: { field: "x" }, y1: { field: "low" + n }, y2: { field: "high" + n }, source, step_mode: "after",
    fill_color: colour(layer), hatch_pattern: patterns[layer.pattern], hatch_color: css("--ground"), hatch_scale: 6,
  }));
  const line = plot.step({
    x: { field: "x" }, y: { field: "y" }, mode: "after", line_width: 0.7, line_alpha: 0.6,
    source: new Bokeh.ColumnDataSource({ data: { x, y: metered } }), line_color: css("--text"),
  });
  const dress = () => {
    areas.forEach((area, n) => {
      area.glyph.fill_color = { value: colour(data.layers[n]) };
      area.glyph.hatch_color = { value: css("--ground") };
    });
    line.glyph.line_color = { value: css("--text") };
    for (const axis of [plot.xaxis, plot.yaxis]) {
      axis.major_label_text_color = css("--text");
      axis.axis_label_text_color = css("--text");
      axis.axis_label_text_font_style = "normal";
      axis.major_label_text_font_size = "13px";
      axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = css("--rule");
    }
    for (const grid of [plot.xgrid, plot.ygrid]) grid.grid_line_color = css("--rule");
  };
  dress();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  Bokeh.Plotting.show(plot, place);

  // The rows of the timeline follow the chart, and the buttons of the days move both.
  let told = false;
  const minutes = (ms) => (ms - data.start_ms) / 60e3;
  const tell = () => {
    if (told) return;
    const detail = [minutes(range.start), minutes(range.end) - minutes(range.start)];
    document.dispatchEvent(new CustomEvent("nilm:zoomed", { detail }));
  };
  range.properties.start.change.connect(tell);
  range.properties.end.change.connect(tell);
  const look = (from, span) => {
    told = true;
    range.setv({ start: data.start_ms + from * 60e3, end: data.start_ms + (from + span) * 60e3 });
    told = false;
  };
  document.addEventListener("nilm:zoom", (event) => look(...event.detail));
  place.addEventListener("dblclick", () => {
    look(0, minutes(end));
    tell();
  });

  // Names: a click shows one alone (or all again), a click on the square hides or shows it.
  const names = [...document.querySelectorAll("#power .legend li")].map((item, n) => {
    const [square, text] = item.children;
    const button = (content, label) => {
      const made = document.createElement("button");
      made.type = "button";
      made.append(content);
      made.setAttribute("aria-label", label + data.layers[n].name);
      return made;
    };
    const hide = button(square, "Show or hide ");
    const only = button(text, "Show only ");
    item.append(hide, only);
    hide.addEventListener("click", () => { shown[n] = !shown[n]; redraw(); });
    only.addEventListener("click", () => {
      const alone = shown[n] && shown.filter(Boolean).length === 1;
      shown.forEach((_, other) => { shown[other] = alone || other === n; });
      redraw();
    });
    return { item, hide, only };
  });
  const redraw = () => {
    source.data = piled();
    line.visible = shown.every(Boolean);
    plot.y_range.reset();  // after a zoom Bokeh leaves the height as it is
    names.forEach(({ item, hide, only }, n) => {
      item.classList.toggle("off", !shown[n]);
      hide.setAttribute("aria-pressed", String(shown[n]));
      only.setAttribute("aria-pressed", String(shown[n] && shown.filter(Boolean).length === 1));
    });
  };
  redraw();
  for (const hint of document.querySelectorAll("#power .scripted")) hint.hidden = false;

  // The watts of every layer at the pointer.
  const day = new Intl.DateTimeFormat("en-GB", {
    weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
  });
  const watts = (value) => Math.round(value).toLocaleString("en-GB") + " W";
  plot.on_event("mousemove", (event) => {
    const n = Math.floor((event.x - data.start_ms) / bin);
    const pointer = { clientX: place.getBoundingClientRect().left + event.sx, clientY: place.getBoundingClientRect().top + event.sy };
    if (!(n >= 0 && n < metered.length)) { nilmTip.hide(); return; }
    const parts = powers
      .map((power, k) => [power[n], data.layers[k].name, shown[k]])
      .filter(([power, , seen]) => seen && Math.abs(power) >= 0.5)
      .sort((a, b) => b[0] - a[0])
      .map(([power, name]) => name + ": " + watts(power));
    const total = Number.isNaN(metered[n]) ? "no data" : "metered " + watts(metered[n]);
    nilmTip.show(pointer, day.format(x[n]) + ", " + total, ...parts);
  });
  plot.on_event("mouseleave", () => nilmTip.hide());
})();
