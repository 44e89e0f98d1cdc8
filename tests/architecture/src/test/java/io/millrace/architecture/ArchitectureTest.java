package io.millrace.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture.LayerDependencySpecification;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The arrows of {@code docs/architecture.md}, where a {@code module-info} does not already enforce them: on the class
 * path there are no modules, and a module may use more of another than the drawing allows.
 *
 * <p>A new module gets a line in {@link #MAY_USE} and a dependency in this module's pom; until it has both,
 * one of these tests fails.
 */
class ArchitectureTest {
    private static final Pattern EXPORT = Pattern.compile("exports\\s+([\\w.]+)(?:\\s+to\\s+([\\w.,\\s]+))?;");
    private static final List<String> LIBRARY = List.of("sys", "poll", "net", "task", "engine", "server");
    private static final Set<String> CROWDED_FOR_A_REASON =
            Set.of("io.millrace.poll", "io.millrace.task", "io.millrace.engine", "io.millrace.testkit");

    private static final Map<String, List<String>> MAY_USE = Map.ofEntries(
            entry("sys", List.of()),
            entry("poll", List.of("sys")),
            entry("net", List.of("poll", "sys")),
            entry("task", List.of("poll")),
            entry("engine", List.of("net", "poll", "sys")),
            entry("server", List.of("engine", "net", "poll")),
            entry("backplane", List.of("server", "engine", "poll")),
            entry("micrometer", List.of("server", "engine")),
            entry("console", List.of("server", "engine", "poll")),
            entry("testkit", List.of("backplane", "server", "engine", "task", "net", "poll")),
            entry("netty", List.of("engine", "poll", "sys")),
            entry("grpc", List.of("netty", "engine")),
            entry("nats", List.of("backplane", "engine", "poll")),
            entry("redis", List.of("backplane", "netty", "engine", "poll")),
            entry("vertx", List.of("netty", "engine")),
            entry("reactor.netty", List.of("netty", "engine")),
            entry(
                    "examples",
                    List.of("backplane", "netty", "console", "micrometer", "server", "engine", "task", "net", "poll")),
            entry("cli", List.of("backplane", "console", "server", "engine", "task", "net", "poll")));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/"))
            .importPackages("io.millrace");

    @Test
    void everyModuleOfTheBuildIsChecked() throws IOException {
        assertThat(modules())
                .contains("io.millrace.sys", "io.millrace.poll")
                .allSatisfy(module -> assertThat(CLASSES)
                        .as("classes of %s on the class path of this module", module)
                        .anyMatch(type -> type.getPackageName().startsWith(module)));
    }

    /** Error Prone and javadoc look at all of them in one go, by a list. */
    @Test
    void everyModulePassesTheGates() throws IOException {
        String pom = Files.readString(Path.of("../../build/gates/pom.xml"));
        assertThat(modules())
                .allSatisfy(module -> assertThat(pom)
                        .contains("<compileSourceRoot>${project.basedir}/../../" + folder(module) + "/src/main/java<")
                        .contains("<argument>--module-source-path=" + module + "=")
                        .containsPattern(
                                "<argument>(io[.a-z]+,)*" + Pattern.quote(module) + "(,io[.a-z]+)*</argument>"));
    }

    /** Bridges to other libraries have a folder of their own, and so have the engines of the backplane. */
    private static String folder(String module) {
        String name = module.substring("io.millrace.".length()).replace('.', '-');
        return Stream.of("bridges/", "backplane/")
                .map(parent -> parent + name)
                .filter(nested -> Files.exists(Path.of("../..", nested)))
                .findFirst()
                .orElse(name);
    }

    /** Those that say of themselves that they are one. */
    private static List<String> modules() throws IOException {
        try (Stream<Path> layers = Files.list(Path.of("../.."));
                Stream<Path> bridges = Files.list(Path.of("../../bridges"));
                Stream<Path> engines = Files.list(Path.of("../../backplane"))) {
            return Stream.of(layers, bridges, engines)
                    .flatMap(all -> all)
                    .filter(directory -> Files.exists(directory.resolve("src/main/java/module-info.java")))
                    .map(directory ->
                            "io.millrace." + directory.getFileName().toString().replace('-', '.'))
                    .toList();
        }
    }

    @Test
    void arrowsPointDown() {
        LayeredArchitecture architecture = layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage("io.millrace..")
                .ensureAllClassesAreContainedInArchitecture();
        for (String layer : MAY_USE.keySet()) {
            architecture = architecture.layer(layer).definedBy("io.millrace." + layer + "..");
        }
        for (Map.Entry<String, List<String>> arrows : MAY_USE.entrySet()) {
            LayerDependencySpecification layer = architecture.whereLayer(arrows.getKey());
            List<String> lower = arrows.getValue();
            architecture = lower.isEmpty()
                    ? layer.mayNotAccessAnyLayer()
                    : layer.mayOnlyAccessLayers(lower.toArray(String[]::new));
        }
        architecture.check(CLASSES);
    }

    @Test
    void onlySysTouchesNativeCode() {
        noClasses()
                .that(outside("io.millrace.sys.."))
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .orShould()
                .callMethodWhere(DescribedPredicate.describe(
                        "MemorySegment.reinterpret is called",
                        call -> call.getTargetOwner().isEquivalentTo(MemorySegment.class)
                                && call.getName().equals("reinterpret")))
                .because("--enable-native-access=io.millrace.sys is the one flag a user grants")
                .check(CLASSES);
    }

    @Test
    void foreignMemoryStaysInSysExceptForTheSegmentsThatNetIsGiven() {
        noClasses()
                .that(outside("io.millrace.sys..", "io.millrace.net.."))
                .should()
                .dependOnClassesThat(resideInAPackage("java.lang.foreign.."))
                .check(CLASSES);
        noClasses()
                .that(resideInAPackage("io.millrace.net.."))
                .should()
                .dependOnClassesThat(resideInAPackage("java.lang.foreign..")
                        .and(DescribedPredicate.not(JavaClass.Predicates.equivalentTo(MemorySegment.class))))
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    /** On the module path the JVM holds them: a package that is not exported is for its own module, one that is exported to some modules is for those. */
    @Test
    void theWallsOfTheModulesHoldOnTheClassPathToo() throws IOException {
        for (String module : modules()) {
            Map<String, String> exports = exports(module);
            Set<String> rooms = new TreeSet<>();
            CLASSES.stream()
                    .map(JavaClass::getPackageName)
                    .filter(room -> (room + ".").startsWith(module + "."))
                    .forEach(rooms::add);
            for (String room : rooms) {
                String to = exports.getOrDefault(room, module);
                if (!to.isEmpty()) {
                    Set<String> mayEnter = new TreeSet<>(Set.of(to.split("[,\\s]+")));
                    mayEnter.add(module);
                    noClasses()
                            .that(outside(
                                    mayEnter.stream().map(name -> name + "..").toArray(String[]::new)))
                            .should()
                            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage(room))
                            .because("module-info of " + module + " does not export it to them")
                            .allowEmptyShould(true)
                            .check(CLASSES);
                }
            }
        }
    }

    /** Each exported package with the modules that it is exported to; none means all. */
    private static Map<String, String> exports(String module) throws IOException {
        String source = Files.readString(Path.of("../..", folder(module), "src/main/java/module-info.java"));
        Map<String, String> exports = new TreeMap<>();
        Matcher export = EXPORT.matcher(source);
        while (export.find()) {
            exports.put(
                    export.group(1),
                    export.group(2) == null ? "" : export.group(2).strip());
        }
        return exports;
    }

    /** From the bottom up: each may call those before it. */
    @Test
    void theRoomsOfSysHaveAnOrder() {
        List<String> rooms =
                List.of("io.millrace.sys.call", "io.millrace.sys", "io.millrace.sys.posix", "io.millrace.sys.selector");
        for (int i = 0; i < rooms.size(); i++) {
            noClasses()
                    .that(resideInAPackage(rooms.get(i)))
                    .should()
                    .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(
                            rooms.subList(i + 1, rooms.size()).toArray(String[]::new)))
                    .allowEmptyShould(true)
                    .check(CLASSES);
        }
    }

    /** From the bottom up, under what users see, which all of them may use, too. */
    @Test
    void theRoomsOfTheServerHaveAnOrder() {
        List<String> rooms = List.of("support", "framing", "secure", "connection", "loop", "group", "connect").stream()
                .map(room -> "io.millrace.server." + room)
                .toList();
        for (int i = 0; i < rooms.size() - 1; i++) {
            noClasses()
                    .that(resideInAPackage(rooms.get(i)))
                    .should()
                    .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(
                            rooms.subList(i + 1, rooms.size()).toArray(String[]::new)))
                    .check(CLASSES);
        }
    }

    @Test
    void theReactorKnowsNeitherDescriptorsNorTransports() {
        noClasses()
                .that(JavaClass.Predicates.resideInAnyPackage(
                        "io.millrace.engine.reactor", "io.millrace.engine.watchdog"))
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(
                        "io.millrace.engine.descriptor", "io.millrace.engine.transport", "io.millrace.engine.pool"))
                .check(CLASSES);
        noClasses()
                .that(resideInAPackage("io.millrace.engine.watchdog"))
                .should()
                .dependOnClassesThat(resideInAPackage("io.millrace.engine.reactor"))
                .check(CLASSES);
    }

    @Test
    void theFamiliesOfNetKnowNeitherWhatUsersSeeNorEachOther() {
        noClasses()
                .that(JavaClass.Predicates.resideInAnyPackage("io.millrace.net.fd", "io.millrace.net.family"))
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage("io.millrace.net", "io.millrace.net.nio"))
                .check(CLASSES);
        noClasses()
                .that(resideInAPackage("io.millrace.net.nio"))
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage("io.millrace.net", "io.millrace.net.fd"))
                .check(CLASSES);
    }

    /** So that one word of the glossary is one thing. */
    @Test
    void noNameIsTakenTwice() {
        Map<String, Set<String>> names = new TreeMap<>();
        CLASSES.stream()
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().endsWith("-info"))
                .filter(type ->
                        LIBRARY.stream().anyMatch(layer -> type.getPackageName().startsWith("io.millrace." + layer)))
                .forEach(type -> names.computeIfAbsent(type.getSimpleName(), name -> new TreeSet<>())
                        .add(type.getPackageName()));
        names.values().removeIf(packages -> packages.size() == 1);
        assertThat(names).as("names with their packages").isEmpty();
    }

    /** A package is a room: one with more has a reason on its opening page, and its name here. */
    @Test
    void noRoomIsCrowded() {
        Map<String, Long> types = new TreeMap<>();
        CLASSES.stream()
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().endsWith("-info"))
                .forEach(type -> types.merge(type.getPackageName(), 1L, Long::sum));
        types.keySet().removeAll(CROWDED_FOR_A_REASON);
        assertThat(types).allSatisfy((room, count) -> assertThat(count).as(room).isLessThanOrEqualTo(30));
    }

    /** What stands for channels has a name that says so; the rest of the family of descriptors never meets one. */
    @Test
    void descriptorsUseNoChannels() {
        noClasses()
                .that(resideInAPackage("io.millrace.sys..")
                        .or(resideInAPackage("io.millrace.poll.."))
                        .or(resideInAPackage("io.millrace.net.."))
                        .and(DescribedPredicate.describe(
                                "are not of the family of channels",
                                type -> !outermost(type).getSimpleName().startsWith("Nio")
                                        // asks a selector for such a handle, and poll(2) for a descriptor
                                        && !outermost(type).getSimpleName().equals("SingleWait"))))
                .should()
                .dependOnClassesThat(resideInAPackage("java.nio.channels..")
                        .and(DescribedPredicate.not(JavaClass.Predicates.assignableTo(Exception.class))))
                .check(CLASSES);
    }

    /** A watch of the JDK's service needs a thread, and each look-up of a name a virtual one. */
    @Test
    void nobodyElseStartsAThread() {
        noClasses()
                .that(resideInAPackage("io.millrace.sys..")
                        .or(resideInAPackage("io.millrace.poll.."))
                        .or(resideInAPackage("io.millrace.net.."))
                        .and(DescribedPredicate.describe(
                                "are neither NioWatch nor Resolver",
                                type -> !List.of("NioWatch", "Resolver")
                                        .contains(outermost(type).getSimpleName()))))
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "a thread or an executor is made",
                        call -> (call.getTargetOwner().isAssignableTo(Thread.class)
                                        && List.of("start", "ofPlatform", "ofVirtual", "startVirtualThread")
                                                .contains(call.getName()))
                                || call.getTargetOwner().isAssignableTo(Executors.class)))
                .orShould()
                .callConstructorWhere(DescribedPredicate.describe(
                        "a thread is made", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .check(CLASSES);
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    private static DescribedPredicate<JavaClass> outside(String... packages) {
        return JavaClass.Predicates.resideOutsideOfPackages(packages);
    }
}
