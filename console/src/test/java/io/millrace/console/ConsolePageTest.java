package io.millrace.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.File;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.chromium.ChromiumDriverLogLevel;

/** In Debian's Chromium. With {@code -Dmillrace.screenshots=FOLDER}, leaves pictures of the views there. */
@DisplayName("The console's page in a browser")
@Timeout(180)
class ConsolePageTest {
    private static ChromeDriver browser;

    private final CountDownLatch letGo = new CountDownLatch(1);

    private final List<Socket> peers = new ArrayList<>();
    private TcpServer server;
    private Console console;
    private Process crowd;
    private Reactors reactors;
    private ComputePool pool;

    /** Echoes; waits if it is told to. */
    private final class PriceList implements ConnectionHandler {
        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            if (data.get(data.position()) == '!') {
                lookUp();
            } else if (data.get(data.position()) == '#') {
                connection.send(ByteBuffer.allocate(8 << 20));
            } else {
                connection.send(data);
            }
        }

        private void lookUp() throws InterruptedException {
            letGo.await(120, TimeUnit.SECONDS);
        }
    }

    @BeforeAll
    static void openBrowser() {
        Path chromium = Tools.require("chromium");
        Path driver = Tools.require("chromedriver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.toFile());
        options.addArguments(
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,860");
        browser = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driver.toFile())
                        .withLogLevel(ChromiumDriverLogLevel.OFF)
                        .build(),
                options);
    }

    @AfterAll
    static void closeBrowser() {
        if (browser != null) {
            browser.quit();
        }
    }

    @BeforeEach
    void start() throws Exception {
        reactors = Reactors.builder().reactors(2).name("shop").open();
        server = TcpServer.builder()
                .manager(reactors)
                .address(new InetSocketAddress("127.0.0.1", 0))
                .waterMarks(32 << 10, 64 << 10, 64 << 20)
                .backlog(16_384)
                .start(new PriceList());
        pool = ComputePool.builder().threads(2).open();
        console = Console.builder()
                .add("shop", server)
                .add("reports", pool)
                .addSet("<img src=x onerror=document.title='hacked'>", () -> 3)
                .open();
    }

    @AfterEach
    void stop() throws Exception {
        letGo.countDown();
        for (Socket peer : peers) {
            peer.close();
        }
        if (crowd != null) {
            crowd.destroy();
        }
        console.close();
        server.close();
        pool.close();
        reactors.close();
    }

    private Socket connect() throws Exception {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(20_000);
        peers.add(socket);
        return socket;
    }

    private void open() {
        browser.get("about:blank");
        browser.get(console.url().toString());
        awaitText("Loops");
    }

    private static String text() {
        return browser.findElement(By.tagName("main")).getText();
    }

    private static void awaitText(String... wanted) {
        await().atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(text()).contains(wanted));
    }

    private static void view(String name) {
        await().ignoreExceptions().until(() -> {
            browser.findElement(By.id("view-" + name)).click();
            return true;
        });
    }

    private static void picture(String name) throws Exception {
        String folder = System.getProperty("millrace.screenshots");
        if (folder != null) {
            Files.createDirectories(Path.of(folder));
            Files.write(Path.of(folder, name + ".png"), browser.getScreenshotAs(OutputType.BYTES));
        }
    }

    private static void dark(boolean on) {
        browser.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", on ? "dark" : "light"))));
    }

    @Test
    @DisplayName("obs-3: the overview shows live data, and its charts move")
    void overview() throws Exception {
        Socket peer = connect();
        for (int i = 0; i < 40; i++) {
            connect();
        }
        open();
        int looks = System.getProperty("millrace.screenshots") == null ? 12 : 45;
        for (int i = 0; i < looks; i++) {
            for (int k = 0; k < 300 * (i % 7); k++) {
                peer.getOutputStream().write(new byte[4_000]);
                peer.getInputStream().readNBytes(4_000);
            }
            for (int k = 0; k < 20; k++) {
                reactors.schedule(Duration.ofMillis(10 + k), fired -> {});
            }
            long before = (long) browser.executeScript("return history_.get('shop-0 use').length");
            await().until(() -> (long) browser.executeScript("return history_.get('shop-0 use').length") > before);
        }
        awaitText("41", "connections open", "shop-0", "shop-1", "epoll", "lag of alarms, p99");
        assertThat(text()).containsPattern("[KM]iB in all");
        assertThat(browser.findElements(By.cssSelector("svg.chart path.area"))).hasSizeGreaterThan(4);
        assertThat(browser.getCurrentUrl())
                .as("the token is not left in the address")
                .doesNotContain("token");
        dark(false);
        picture("console-overview");
        dark(true);
        picture("console-overview-dark");
        dark(false);
        narrow(true);
        picture("console-phone");
        try {
            for (String view : List.of("overview", "connections", "stalls", "timers", "shutdown", "sources")) {
                view(view);
                assertThat((Long) browser.executeScript(
                                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
                        .as("nothing of %s sticks out on a phone", view)
                        .isZero();
            }
        } finally {
            narrow(false);
        }
    }

    /** As a phone: a window of the browser cannot be that narrow. */
    private static void narrow(boolean on) {
        if (on) {
            browser.executeCdpCommand(
                    "Emulation.setDeviceMetricsOverride",
                    Map.of("width", 375, "height", 812, "deviceScaleFactor", 2, "mobile", true));
        } else {
            browser.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
        }
    }

    @Test
    @DisplayName("obs-3: a chart shows nothing of the time before it was looked at, and the first rates are unknown")
    void inventsNothing() throws Exception {
        Socket peer = connect();
        peer.getOutputStream().write(new byte[100_000]);
        peer.getInputStream().readNBytes(100_000);
        open();
        await().until(() -> (long) browser.executeScript("return history_.get('shop bytes').length") >= 3);
        assertThat((Boolean) browser.executeScript("return history_.get('shop bytes')[0] === null"))
                .as("the first look has no rate")
                .isTrue();
        assertThat((Number) browser.executeScript("return most(history_.get('shop bytes'))"))
                .as("bytes of before")
                .hasToString("0");
        assertThat((Boolean) browser.executeScript("return history_.get('shop-0 lag').every(each => each === null)"))
                .as("no alarm has come due, so there is no lag")
                .isTrue();
        CountDownLatch fired = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            reactors.schedule(Duration.ofMillis(1), ok -> fired.countDown());
        }
        assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
        await().until(() -> (Boolean) browser.executeScript(
                "return ['shop-0 lag', 'shop-1 lag'].some(each => most(history_.get(each)) > 0)"));
        await().until(() -> (Boolean) browser.executeScript(
                "return ['shop-0 lag', 'shop-1 lag'].every(each => history_.get(each).at(-1) === null)"));
    }

    @Test
    @DisplayName(
            "obs-3: what somebody reads is not replaced: a selection and the focus stay, and a server that is gone is said")
    void keepsWhatIsRead() throws Exception {
        connect().getOutputStream().write('!');
        open();
        view("stalls");
        awaitText("blocks now");
        browser.findElement(By.tagName("summary")).click();
        browser.executeScript("document.querySelector('summary').first = true");
        await().until(() ->
                !(Boolean) browser.executeScript("return document.querySelector('summary').first === true"));
        assertThat(browser.switchTo().activeElement().getTagName()).isEqualTo("summary");
        assertThat((Boolean) browser.executeScript("return document.querySelector('details').open"))
                .isTrue();
        browser.executeScript("const line = document.querySelector('pre .mine'); line.first = true;"
                + "document.getSelection().selectAllChildren(line)");
        await().untilAsserted(() ->
                assertThat(browser.findElement(By.id("state")).getText()).contains("waits while text is selected"));
        assertThat((Boolean) browser.executeScript("return document.querySelector('pre .mine').first === true"))
                .isTrue();
        browser.executeScript("document.getSelection().removeAllRanges()");
        await().until(() ->
                !(Boolean) browser.executeScript("return document.querySelector('pre .mine').first === true"));
        browser.findElement(By.id("pause")).click();
        await().untilAsserted(() ->
                assertThat(browser.findElement(By.id("state")).getText()).isEqualTo("paused"));
        browser.findElement(By.id("pause")).click();
        console.close();
        await().untilAsserted(
                        () -> assertThat(browser.findElement(By.id("state")).getText())
                                .contains("no answer: does the program still run?"));
    }

    @Test
    @DisplayName("obs-3: 10,000 connections are searched, sorted and filtered; one is looked at and closed")
    void tenThousandConnections() throws Exception {
        int many = 10_000;
        // In a process of their own, because both ends in one would exceed 20,000 open files.
        crowd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("surefire.test.class.path", "") + File.pathSeparator
                                + "target/quick/test-classes" + File.pathSeparator + "target/test-classes",
                        Crowd.class.getName(),
                        Integer.toString(server.address().getPort()),
                        Integer.toString(many - 2))
                .redirectErrorStream(true)
                .start();
        Socket chosen = connect();
        Socket full = connect();
        chosen.getOutputStream().write(new byte[100_000]);
        chosen.getInputStream().readNBytes(100_000);
        full.getOutputStream().write('#');
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(server.metrics().connections()).isEqualTo(many));
        open();
        view("connections");
        awaitText("1–200 of " + many);
        awaitText("full");
        picture("console-connections");

        WebElement search = browser.findElement(By.id("search"));
        search.sendKeys(":" + chosen.getLocalPort());
        awaitText("1–1 of 1 (" + many + " in all)", "97.7 KiB");
        browser.findElement(By.cssSelector("tr.row")).sendKeys(Keys.ENTER);
        WebElement detail = browser.findElement(By.id("detail"));
        await().untilAsserted(() -> assertThat(detail.getText())
                .contains("127.0.0.1:" + chosen.getLocalPort(), PriceList.class.getName(), "full above 64.0 KiB"));
        picture("console-connection");
        browser.findElement(By.id("close-connection")).click();
        assertThat(chosen.getInputStream().read()).isEqualTo(-1);
        chosen.close();
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(detail.getText()).contains("ended"));
        browser.findElement(By.id("close-dialog")).click();
        await().untilAsserted(() -> assertThat(server.metrics().connections()).isEqualTo(many - 1));
        search.clear();
        search.sendKeys(" \b");
        browser.findElement(By.id("filter")).sendKeys("full");
        awaitText("1–1 of 1 (" + (many - 1) + " in all)");
    }

    @Test
    @DisplayName("obs-3: a blocked loop shows its stall, down to the line, and what a shutdown waits for")
    void blockedLoop() throws Exception {
        connect().getOutputStream().write('!');
        open();
        view("stalls");
        awaitText("PriceList.onData", "blocks now", "ConsolePageTest.java:");
        browser.findElement(By.tagName("summary")).click();
        awaitText("lookUp");
        picture("console-stalls");
        view("overview");
        awaitText("held for");
        Thread ends = Thread.ofPlatform().start(() -> server.shutdown(Duration.ofSeconds(20)));
        view("shutdown");
        awaitText("closing", "A loop is held up", "The shutdown waits for 1 connection:", "has been in connection 1");
        picture("console-shutdown");
        letGo.countDown();
        awaitText("It waits for nothing.");
        ends.join();
    }

    @Test
    @DisplayName("obs-3: timers, tasks, pools, sets and sources; keys choose the view; markup in names stays text")
    void timersAndSources() throws Exception {
        connect();
        reactors.schedule(Duration.ofHours(1), fired -> {});
        pool.submit(() -> 1).get(20, TimeUnit.SECONDS);
        open();
        browser.findElement(By.id("main")).sendKeys("4");
        awaitText("alarms pending 1", "Pool reports", "completed 1", "59 min", "<img src=x onerror=");
        picture("console-timers");
        assertThat(browser.getTitle()).isEqualTo("Millrace console");
        assertThat(browser.findElements(By.tagName("img"))).isEmpty();
        browser.findElement(By.id("main")).sendKeys("6");
        awaitText("TcpListener", "sources on epoll");
        browser.findElement(By.id("main")).sendKeys("/");
        browser.switchTo().activeElement().sendKeys("listener");
        await().ignoreExceptions().untilAsserted(() -> assertThat(text()).doesNotContain("TcpStream"));
        picture("console-sources");
    }

    @Test
    @DisplayName("obs-3: without the token the page shows nothing but why")
    void withoutTheToken() {
        browser.get("about:blank");
        String base = "http://127.0.0.1:" + console.address().getPort() + "/";
        browser.get(base);
        browser.executeScript("sessionStorage.clear()");
        browser.get("about:blank");
        browser.get(base);
        await().ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(browser.findElement(By.id("state")).getText())
                                .contains("the token is missing or wrong"));
        assertThat(text()).isEmpty();
    }
}
