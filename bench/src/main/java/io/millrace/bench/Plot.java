package io.millrace.bench;

import java.util.Locale;
import java.util.Map;

/** Draws plots as SVG, with nothing but text. */
public final class Plot {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 380;
    private static final int LEFT = 64;
    private static final int RIGHT = 20;
    private static final int TOP = 40;
    private static final int BOTTOM = 96;
    private static final String[] COLOURS = {"#0b6e99", "#4c9a2a", "#c0504d", "#8064a2", "#e08e0b", "#7f7f7f"};

    private Plot() {}

    /** Values over a logarithmic axis of sizes. */
    static String lines(String title, Map<String, double[][]> series) {
        double most = series.values().stream()
                .flatMap(java.util.Arrays::stream)
                .mapToDouble(point -> point[1])
                .max()
                .orElse(1);
        StringBuilder svg = open(title);
        double step = niceStep(most);
        for (double y = 0; y <= most + step / 2; y += step) {
            grid(svg, yOf(y, most + step), String.format(Locale.ROOT, "%.0f", y));
        }
        double from = Math.log10(1_000);
        double to = Math.log10(1_000_000);
        for (int size = 1_000; size <= 1_000_000; size *= 10) {
            text(
                    svg,
                    xOf((Math.log10(size) - from) / (to - from)),
                    HEIGHT - BOTTOM + 18,
                    "middle",
                    String.format(Locale.ROOT, "%,d", size));
        }
        int colour = 0;
        for (Map.Entry<String, double[][]> entry : series.entrySet()) {
            StringBuilder points = new StringBuilder();
            for (double[] point : entry.getValue()) {
                points.append(String.format(
                        Locale.ROOT,
                        "%.1f,%.1f ",
                        xOf((Math.log10(point[0]) - from) / (to - from)),
                        yOf(point[1], most + step)));
            }
            polyline(svg, points, COLOURS[colour]);
            legend(svg, colour++, entry.getKey());
        }
        return svg.append("</svg>\n").toString();
    }

    /** Milliseconds over a linear axis of sizes: a straight line if the cost is linear. */
    static String linear(String title, double[][] points) {
        double mostX = points[points.length - 1][0];
        double mostY = points[points.length - 1][1];
        StringBuilder svg = open(title);
        double step = niceStep(mostY);
        for (double y = 0; y <= mostY + step / 2; y += step) {
            grid(svg, yOf(y, mostY + step), String.format(Locale.ROOT, "%.0f ms", y));
        }
        for (int i = 0; i <= 4; i++) {
            text(svg, xOf(i / 4.0), HEIGHT - BOTTOM + 18, "middle", String.format(Locale.ROOT, "%,.0f", mostX * i / 4));
        }
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%.1f,%.1f ", xOf(0), yOf(0, mostY + step)));
        for (double[] point : points) {
            double x = xOf(point[0] / mostX);
            double y = yOf(point[1], mostY + step);
            line.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
            svg.append(String.format(
                    Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>%n", x, y, COLOURS[0]));
        }
        polyline(svg, line, COLOURS[0]);
        return svg.append("</svg>\n").toString();
    }

    /** One dot per child, on a logarithmic axis of counts; 0 is drawn at the bottom. */
    static String counts(String title, Map<String, int[]> counts) {
        int most = counts.values().stream()
                .flatMapToInt(java.util.Arrays::stream)
                .max()
                .orElse(1);
        double top = Math.ceil(Math.log10(most + 1.0));
        StringBuilder svg = open(title);
        grid(svg, yOf(0, top + 1), "0");
        for (int power = 0; power <= top; power++) {
            grid(svg, yOf(power + 1, top + 1), String.format(Locale.ROOT, "%,d", (long) Math.pow(10, power)));
        }
        int colour = 0;
        for (Map.Entry<String, int[]> entry : counts.entrySet()) {
            int[] each = entry.getValue();
            for (int i = 0; i < each.length; i++) {
                double height = each[i] == 0 ? 0 : Math.log10(each[i]) + 1;
                svg.append(String.format(
                        Locale.ROOT,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>%n",
                        xOf(i / (double) (each.length - 1)),
                        yOf(height, top + 1),
                        each[i] > 10 * Math.max(1, each[(i + 1) % each.length]) ? "5" : "1.5",
                        COLOURS[colour]));
            }
            legend(svg, colour++, entry.getKey());
        }
        for (int i = 0; i <= 4; i++) {
            text(svg, xOf(i / 4.0), HEIGHT - BOTTOM + 18, "middle", "child " + i * 250);
        }
        return svg.append("</svg>\n").toString();
    }

    /** A bar for each name, as long as its first number, with a line from its second to its third; a mark at 1, to which they are ratios. */
    public static String bars(String title, Map<String, double[]> bars) {
        int row = 26;
        int left = 190;
        int right = 120;
        int height = TOP + bars.size() * row + 30;
        double most = Math.max(
                1, bars.values().stream().mapToDouble(bar -> bar[2]).max().orElse(1));
        double unit = (WIDTH - left - right) / most;
        StringBuilder svg = open(title, height);
        int y = TOP;
        for (Map.Entry<String, double[]> entry : bars.entrySet()) {
            double[] bar = entry.getValue();
            String colour = COLOURS[entry.getKey().startsWith("Millrace") ? 0 : COLOURS.length - 1];
            text(svg, left - 8, y + 15, "end", entry.getKey());
            svg.append(String.format(
                    Locale.ROOT,
                    "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
                    left,
                    y + 2,
                    bar[0] * unit,
                    row - 8,
                    colour));
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"black\"/>%n",
                    left + bar[1] * unit,
                    y + row / 2 - 2,
                    left + bar[2] * unit,
                    y + row / 2 - 2));
            text(svg, left + bar[2] * unit + 6, y + 15, "start", String.format(Locale.ROOT, "%.2f", bar[0]));
            y += row;
        }
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#c0504d\" stroke-dasharray=\"4 3\"/>%n",
                left + unit,
                TOP - 4,
                left + unit,
                y));
        text(svg, left + unit, y + 16, "middle", "1");
        return svg.append("</svg>\n").toString();
    }

    private static StringBuilder open(String title) {
        return open(title, HEIGHT);
    }

    private static StringBuilder open(String title, int height) {
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">%n<rect width=\"100%%\" height=\"100%%\""
                        + " fill=\"white\"/>%n",
                WIDTH,
                height,
                WIDTH,
                height));
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%d\" y=\"22\" font-size=\"14\" font-weight=\"bold\">%s</text>%n", LEFT, title));
        return svg;
    }

    private static void grid(StringBuilder svg, double y, String label) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>%n",
                LEFT,
                y,
                WIDTH - RIGHT,
                y));
        text(svg, LEFT - 6, y + 4, "end", label);
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, text));
    }

    private static void polyline(StringBuilder svg, StringBuilder points, String colour) {
        svg.append(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n",
                points.toString().strip(),
                colour));
    }

    private static void legend(StringBuilder svg, int at, String name) {
        int x = LEFT + at % 2 * 340;
        int y = HEIGHT - BOTTOM + 40 + at / 2 * 18;
        svg.append(String.format(
                Locale.ROOT, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>%n", x, y, COLOURS[at]));
        text(svg, x + 18, y + 10, "start", name);
    }

    private static double niceStep(double most) {
        double power = Math.pow(10, Math.floor(Math.log10(most / 4)));
        double unit = most / 4 / power;
        return (unit < 1.5 ? 1 : unit < 3.5 ? 2 : unit < 7.5 ? 5 : 10) * power;
    }

    private static double xOf(double share) {
        return LEFT + 10 + share * (WIDTH - LEFT - RIGHT - 20);
    }

    private static double yOf(double value, double most) {
        return HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM);
    }
}
